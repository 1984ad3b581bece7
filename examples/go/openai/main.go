// The OpenAI SDK: a whole answer, a stream, a tool call.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

var weatherTool = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
	Name:        "weather",
	Description: openai.String("The weather of a place."),
	Parameters: shared.FunctionParameters{
		"type":       "object",
		"properties": map[string]any{"place": map[string]any{"type": "string"}},
		"required":   []string{"place"},
	},
})

func weather(arguments string) string {
	var input struct{ Place string }
	check(json.Unmarshal([]byte(arguments), &input))
	return "Sunny in " + input.Place + "."
}

func check(err error) {
	var refusal *openai.Error
	if errors.As(err, &refusal) {
		log.Fatal(refusal.StatusCode, " ", refusal.Message)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	gateway := os.Getenv("GATEWAY_URL")
	if gateway == "" {
		gateway = "http://127.0.0.1:8080"
	}
	client := openai.NewClient(
		option.WithBaseURL(gateway+"/beta/v1"),
		option.WithAPIKey(os.Getenv("GATEWAY_KEY")),
	)
	ctx := context.Background()
	ask := func(content string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{
			Model:     "chat-1",
			MaxTokens: openai.Int(200),
			Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage(content)},
		}
	}

	completion, err := client.Chat.Completions.New(ctx, ask("Good morning"))
	check(err)
	fmt.Println("whole:", completion.Choices[0].Message.Content)

	stream := client.Chat.Completions.NewStreaming(ctx, ask("Good evening"))
	fmt.Print("stream: ")
	for stream.Next() {
		fmt.Print(stream.Current().Choices[0].Delta.Content)
	}
	check(stream.Err())
	fmt.Println()

	request := ask("Use the weather tool.")
	request.Tools = []openai.ChatCompletionToolUnionParam{weatherTool}
	asked, err := client.Chat.Completions.New(ctx, request)
	check(err)
	message := asked.Choices[0].Message
	request.Messages = append(request.Messages, message.ToParam())
	for _, call := range message.ToolCalls {
		result := weather(call.Function.Arguments)
		request.Messages = append(request.Messages, openai.ToolMessage(result, call.ID))
	}
	answer, err := client.Chat.Completions.New(ctx, request)
	check(err)
	fmt.Println("tool:", answer.Choices[0].Message.Content)
}
