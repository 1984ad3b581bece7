// The OpenAI SDK: chat completions, responses, embeddings.
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
	"github.com/openai/openai-go/v3/responses"
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

	input := func(text string) responses.ResponseNewParams {
		return responses.ResponseNewParams{
			Model:           "chat-1",
			MaxOutputTokens: openai.Int(200),
			Input:           responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
		}
	}
	response, err := client.Responses.New(ctx, input("Good night"))
	check(err)
	fmt.Println("response:", response.OutputText())

	next := input("Sleep well")
	next.PreviousResponseID = openai.String(response.ID)
	events := client.Responses.NewStreaming(ctx, next)
	fmt.Print("continued: ")
	for events.Next() {
		if event := events.Current(); event.Type == "response.output_text.delta" {
			fmt.Print(event.Delta)
		}
	}
	check(events.Err())
	fmt.Println()

	embeddings, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "embed-1",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"soup", "bread"}},
	})
	check(err)
	fmt.Println("embeddings:", len(embeddings.Data))
}
